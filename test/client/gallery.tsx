import type { Server } from 'node:http';
import { join } from 'node:path';
import express, { type Request, type Response } from 'express';
import type { ReactElement } from 'react';
import {
  contentSecurityPolicy,
  getNonce,
  loadAssets,
  renderDocument,
  securityHeaders,
  staticFiles,
} from '../../server/http/index.ts';
import type { PageContext } from '../../views/page-context.ts';
import { Notice } from '../../views/parts/notice.tsx';
import { listenOnFreePort } from '../support/foyer.ts';
import { everyPage } from '../views/every-page.tsx';
import { contextFor, type Sample } from '../views/samples/context.ts';
import { islandSamples } from './island-samples.tsx';

export interface Gallery {
  url: string;
  /** Address of a page with this sample alone. */
  at(sample: string): string;
  /** Address of one of the product's own pages (`everyPage`). */
  page(name: string): string;
  close(): Promise<void>;
}

const sampleContext = contextFor('en');
export const sampleNames = Object.keys(islandSamples(sampleContext));

/** A page for each sample, with the policy and the headers that Foyer's pages have, on a built client. */
export async function openGallery(
  clientDir: string,
  extra: (ctx: PageContext) => Record<string, ReactElement> = () => ({}),
): Promise<Gallery> {
  const assets = loadAssets(clientDir);
  const app = express();
  app.use(securityHeaders({ https: false }));
  app.use('/assets', staticFiles(clientDir));
  const send = (res: Response, render: (ctx: PageContext) => Sample) => {
    const ctx: PageContext = { ...contextFor('en'), assets, nonce: getNonce(res) };
    const { page, head, frames = false } = render(ctx);
    const html = renderDocument(ctx, page, { title: 'Sample', ...head });
    // Here, their stand-in for Stripe.js is our own.
    const scripts = /data-island="(?:card-form|payment-action)"/.test(html) ? ["'self'"] : [];
    res.set('Content-Security-Policy', contentSecurityPolicy(ctx.nonce, { frames, scripts }));
    res.type('html').send(html);
  };
  const show = (req: Request, res: Response, body: (ctx: PageContext) => ReactElement | undefined) =>
    send(res, (ctx) => ({
      page: (
        <main>
          <h1>{req.path}</h1>
          {body(ctx) ?? <p>No such sample</p>}
          <button type="button">Elsewhere</button>
        </main>
      ),
    }));
  app.get('/sample/:name', (req, res) =>
    show(req, res, (ctx) => ({ ...islandSamples(ctx), ...extra(ctx) })[req.params.name]),
  );
  app.get('/page/:name', (req, res) =>
    send(res, (ctx) => {
      const sample = everyPage(ctx)[req.params.name];
      if (!sample) throw new Error(`there is no page ${req.params.name}`);
      return sample;
    }),
  );
  app.get('/stripe.js', (_req, res) => res.sendFile(join(clientDir, 'stand-in', 'stripe-js.js')));
  // Stripe, which thinks about it for as long as the page is looked at.
  app.get('/v1/payment_intents/:id', () => {});
  // What the pages with frames show in them.
  app.get(/^\/a(\/|$)/, (_req, res) => {
    res.removeHeader('X-Frame-Options');
    res.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'self'");
    res.type('html').send('<!doctype html><html lang="en"><title>Framed</title><p>Framed</p></html>');
  });
  app.get('/edit-name', (req, res) =>
    show(req, res, () => (
      <section data-lift="">
        <h2>Edit your name</h2>
        <div hidden data-unsent="Not sent">
          <Notice kind="error">Not sent</Notice>
        </div>
        <form method="post">
          <label>
            Given name <input name="given_name" />
          </label>
          <button type="submit">Save</button>
          <a href="/settings" data-close="">
            Cancel
          </a>
        </form>
      </section>
    )),
  );
  app.get('/nothing-to-lift', (req, res) => show(req, res, () => <p>A page without a dialog</p>));
  // As the server answers the form of a dialog: the page below shows the change.
  app.post('/edit-name', (req, res, next) => {
    if (req.get('foyer-part') === undefined) return next();
    res.status(204).set('Foyer-Location', '/sample/dialog?notice=name').end();
  });
  app.all(['/echo', '/edit-name'], express.urlencoded(), (req, res) =>
    show(req, res, () => <pre id="echo">{JSON.stringify({ ...req.query, ...req.body })}</pre>),
  );
  const { server, port } = await listenOnFreePort(app);
  const url = `http://localhost:${port}`;
  return {
    url,
    page: (name) => `${url}/page/${encodeURIComponent(name)}`,
    at: (sample) => `${url}/sample/${encodeURIComponent(sample)}`,
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
