export function writeEpub() {}
