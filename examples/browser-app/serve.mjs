/** Serves the browser example: four files, one library, and where Foyer is. Any static web server does as well. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const { ISSUER = 'http://localhost:3000', CLIENT_ID = 'browser-example', PORT = '4100' } = process.env;

const file = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
/** @type {Map<string, { path: string, type: string }>} */
const files = new Map([
  ['/', { path: file('index.html'), type: 'text/html; charset=utf-8' }],
  ['/app.css', { path: file('app.css'), type: 'text/css; charset=utf-8' }],
  ['/app.mjs', { path: file('app.mjs'), type: 'text/javascript; charset=utf-8' }],
  // One file without imports: it runs in browsers as it is.
  ['/oauth4webapi.js', { path: fileURLToPath(import.meta.resolve('oauth4webapi')), type: 'text/javascript' }],
]);

const headers = {
  // No script but our own, and nothing is fetched but from here and from Foyer: that is what guards tokens in a browser.
  'Content-Security-Policy': `default-src 'self'; img-src data:; connect-src 'self' ${new URL(ISSUER).origin}; base-uri 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

const server = createServer(async (req, res) => {
  const { pathname } = new URL(req.url ?? '/', 'http://127.0.0.1');
  const found = files.get(pathname);
  if (pathname === '/config.json') {
    res.writeHead(200, { ...headers, 'Content-Type': 'application/json' });
    res.end(JSON.stringify({ issuer: ISSUER, clientId: CLIENT_ID }));
  } else if (found) {
    const content = await readFile(found.path);
    res.writeHead(200, { ...headers, 'Content-Type': found.type }).end(content);
  } else res.writeHead(404, headers).end();
});
server.once('error', (error) => {
  console.error(
    `The example cannot listen on port ${PORT}: ${error.message}. Set another PORT, or EXAMPLE_PORT for npm run example.`,
  );
  process.exit(1);
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`The browser example is ready: http://127.0.0.1:${PORT}`);
});
