import { rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { listenOnFreePort, type TestFoyer } from '../support/foyer.ts';
import { appFolder, type ForeignApp } from './foreign-app.ts';

/** The libraries of pages, by the names of their files. */
export const pages = ['oidc-client-ts', 'react-oidc-context', 'angular-auth-oidc-client', 'keycloak-js'] as const;
type PageName = (typeof pages)[number];

/** Bundles a page with its library, as a developer does. */
async function bundle(page: PageName): Promise<string> {
  const folder = await appFolder();
  try {
    const build = await rolldown({
      input: join(folder, 'pages', `${page}.mjs`),
      platform: 'browser',
      transform: { define: { 'process.env.NODE_ENV': '"production"' } },
      logLevel: 'silent',
    });
    const { output } = await build.generate({ format: 'iife' });
    await build.close();
    return output[0].code;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A static page with a library of the browser, registered as a public client of its start page. */
export async function startPageApp(foyer: TestFoyer, page: PageName): Promise<ForeignApp> {
  const script = await bundle(page);
  let html = '';
  const { server, port } = await listenOnFreePort((req: IncomingMessage, res: ServerResponse) => {
    const isScript = req.url === '/page.js';
    res.setHeader('content-type', `${isScript ? 'text/javascript' : 'text/html'}; charset=utf-8`);
    res.end(isScript ? script : html);
  });
  const url = `http://127.0.0.1:${port}`;
  const { id } = await foyer.addClient({ public: true, redirectUris: [`${url}/`], logoutUris: [`${url}/`] });
  const settings = JSON.stringify({ issuer: foyer.url, clientId: id });
  html =
    `<!doctype html><html lang="en"><title>${page}</title><link rel="icon" href="data:,"><base href="/">` +
    `<body><script type="application/json" id="settings">${settings}</script><script defer src="/page.js"></script>`;
  return {
    url,
    output: () => '',
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
