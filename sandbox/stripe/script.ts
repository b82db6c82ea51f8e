import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Router } from 'express';

/** The build's output of the stand-in for Stripe.js. */
const built = ['stand-in', 'stripe-js.js'];

/**
 * `/stripe.js` instead of js.stripe.com: a plain script that creates `window.Stripe`, whose calls go to this origin.
 */
export function scriptRoute(router: Router, clientDir: string): void {
  router.get('/stripe.js', (_req, res) => {
    const code = readFileSync(join(clientDir, ...built), 'utf8');
    res.set({ 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*', 'X-Content-Type-Options': 'nosniff' });
    // Keeps its names out of the global scope.
    res.type('js').send(`(() => {${code}})();\n`);
  });
}
