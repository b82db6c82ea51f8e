import { stripePolicy } from '../../../server/billing/checkout/stripe-js.ts';
import { contentSecurityPolicy } from '../../../server/http/index.ts';

const strict = contentSecurityPolicy('n');

it('Pages with a card may load what Stripe’s security guide names, and nothing more', () => {
  const apiUrl = 'https://api.stripe.com';
  const policy = contentSecurityPolicy('n', stripePolicy({ jsUrl: 'https://js.stripe.com/endive/stripe.js', apiUrl }));
  const js = 'https://js.stripe.com https://*.js.stripe.com';
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `script-src 'nonce-n' ${js}`,
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${apiUrl}`,
    `frame-src ${js} https://hooks.stripe.com`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]);
});

it('The policy does not name Stripe’s own addresses when Stripe.js and the API are elsewhere', () => {
  const elsewhere = { jsUrl: 'http://127.0.0.1:3004/stripe.js', apiUrl: 'http://127.0.0.1:3005' };
  const policy = contentSecurityPolicy('n', stripePolicy(elsewhere));
  expect(policy).toContain("script-src 'nonce-n' http://127.0.0.1:3004;");
  expect(policy).toContain("connect-src 'self' http://127.0.0.1:3005;");
  expect(policy).toContain('frame-src http://127.0.0.1:3004;');
  expect(policy).not.toContain('stripe.com');
});

it('Every other page keeps its policy without frames and with only scripts that carry the nonce', () => {
  expect(strict).toContain("script-src 'nonce-n';");
  expect(strict).toContain("connect-src 'self';");
  expect(strict).not.toContain('frame-src');
});
