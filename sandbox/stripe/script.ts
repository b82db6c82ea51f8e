import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Router } from 'express';

/** Where the build puts the stand-in for Stripe.js. */
const built = ['stand-in', 'stripe-js.js'];

/** `/stripe.js` in place of js.stripe.com: a plain script that makes `window.Stripe`, whose calls go to this origin. */
export function scriptRoute(router: Router, clientDir: string): void {
  router.get('/stripe.js', (_req, res) => {
    const code = readFileSync(join(clientDir, ...built), 'utf8');
    res.set({ 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*', 'X-Content-Type-Options': 'nosniff' });
    // Names of its own stay its own.
    res.type('js').send(`(() => {${code}})();\n`);
  });
}
