// serve.mjs: shows build/web to a browser on this machine, and again when it was built anew.
//   node book/web/serve.mjs [PORT]
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const SITE = 'build/web',
  port = +(process.argv[2] ?? 8000),
  waiting = new Set();
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.csv': 'text/csv',
  '.pdf': 'application/pdf',
  '.epub': 'application/epub+zip',
};
const AGAIN = '<script>new EventSource("/again").onmessage = () => location.reload()</script>';

http
  .createServer((request, answer) => {
    const file = path
      .normalize(decodeURIComponent(request.url.split(/[?#]/)[0]))
      .replace(/\/$/, '/index.html');
    if (file === '/again') return wait(answer);
    const whole = path.join(SITE, file),
      type = TYPES[path.extname(whole)] ?? 'application/octet-stream';
    if (!fs.existsSync(whole)) return answer.writeHead(404).end();
    answer.writeHead(200, {
      'Content-Type': `${type}; charset=utf-8`,
      'Cache-Control': 'no-store',
    });
    answer.end(type === 'text/html' ? fs.readFileSync(whole) + AGAIN : fs.readFileSync(whole));
  })
  .listen(port, '127.0.0.1', () => console.log(`http://localhost:${port}/`));

function wait(answer) {
  answer.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  waiting.add(answer);
  answer.on('close', () => waiting.delete(answer));
}
fs.watchFile(path.join(SITE, 'built'), { interval: 200 }, () => {
  for (const a of waiting) a.write('data: again\n\n');
});
