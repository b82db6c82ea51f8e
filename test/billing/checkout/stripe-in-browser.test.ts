import { stripePolicy } from '../../../server/billing/checkout/stripe-js.ts';
import { contentSecurityPolicy, permissionsPolicy } from '../../../server/http/index.ts';
import { openShop } from './shop.ts';

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
    "manifest-src 'self'",
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

it('Frames of Stripe.js may ask for a payment, and no page without a card form may', () => {
  const jsUrl = 'https://js.stripe.com/endive/stripe.js';
  const ofCard = permissionsPolicy(stripePolicy({ jsUrl, apiUrl: 'https://api.stripe.com' }));
  expect(ofCard).toBe('camera=(), microphone=(), geolocation=(), payment=(self "https://js.stripe.com"), usb=()');
  expect(permissionsPolicy()).toBe('camera=(), microphone=(), geolocation=(), payment=(), usb=()');
});

it('The card form sends the header for payments, and the page before it does not', async () => {
  const shop = await openShop();
  try {
    const user = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(user);
    const payments = async (path: string) => {
      const { status, headers } = await browser.get(path);
      return [status, /payment=\([^)]*\)/.exec(headers.get('permissions-policy') ?? '')?.[0]];
    };
    expect(await payments('/plan-purchase/10/addPayment')).toEqual([200, `payment=(self "${shop.standIn.url}")`]);
    expect(await payments('/settings/membership/card')).toEqual([200, `payment=(self "${shop.standIn.url}")`]);
    expect(await payments('/plan-purchase/10')).toEqual([200, 'payment=()']);
    expect(await payments('/settings/membership')).toEqual([200, 'payment=()']);
  } finally {
    await shop.close();
  }
});
