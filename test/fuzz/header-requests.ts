import { headerText, mutateText } from './mutate.ts';
import { anyRoute, shownForm } from './page-requests.ts';
import { addressText, type Generate } from './request-parts.ts';

const headerNames = [
  ...['accept', 'accept-language', 'accept-encoding', 'authorization', 'content-type', 'cookie', 'origin', 'referer'],
  ...[
    'sec-fetch-site',
    'sec-fetch-mode',
    'sec-fetch-dest',
    'sec-purpose',
    'user-agent',
    'if-none-match',
    'range',
    'dpop',
  ],
  ...[
    'if-modified-since',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'forwarded',
    'x-http-method-override',
  ],
  ...[
    'content-encoding',
    'content-language',
    'expect',
    'te',
    'prefer',
    'stripe-signature',
    'host',
    'x-request-id',
    'traceparent',
  ],
];
const headerValues = [
  ...[
    '*/*',
    'application/json',
    'text/html;q=0.1,*;q=x',
    'de,fr;q=0.9,en;q=NaN',
    'gzip, br;q=0',
    'Bearer x',
    'Basic eDp5',
    'Basic !!',
  ],
  ...[
    'https://evil.example',
    'null',
    'cross-site',
    'none',
    'prefetch',
    'bytes=0-1,5-2,-9',
    '"x"',
    'W/"',
    'Thu, 01 Jan 1970',
    '127.0.0.1',
  ],
  ...['::ffff:1.2.3.4, x', 'evil.example', 'localhost:1', 'for=[::1];proto=x', '100-continue', 'x-unknown', 't=1,v1=a'],
];

/** A page with odd headers. */
export const headers: Generate = (random, scene) => {
  const actor = random.pick(scene.actors);
  const path = random.pick([...actor.links, ...scene.routes.map((route) => route.path)]);
  const odd: Record<string, string> = { host: scene.host, ...(random.oneIn(2) && { cookie: actor.cookie }) };
  for (let n = 1 + random.below(4); n > 0; n -= 1) {
    odd[random.pick(headerNames)] = headerText(
      random.oneIn(2) ? random.pick(headerValues) : mutateText(random, random.pick(headerValues)),
    );
  }
  // Node's server handles Expect itself, and its client would wait for the answer.
  delete odd.expect;
  if (odd.host === '') odd.host = scene.host;
  return { method: random.pick(['GET', 'GET', 'HEAD', 'POST']), path: addressText(path), headers: odd };
};

/** The cookies of a browser, changed, mixed with another's, cut or doubled. */
export const cookies: Generate = (random, scene) => {
  const actor = random.pick(scene.actors);
  const both = [...actor.cookie.split('; '), ...random.pick(scene.actors).cookie.split('; ')];
  const changed = both.map((cookie) => {
    const [name = '', ...value] = cookie.split('=');
    return random.oneIn(3) ? `${name}=${mutateText(random, value.join('='))}` : cookie;
  });
  const { path, ...request } = random.oneIn(3) ? shownForm(random, scene) : anyRoute(random, scene);
  const target = random.oneIn(2) && actor.links.length > 0 ? addressText(random.pick(actor.links)) : path;
  return { ...request, path: target, headers: { ...request.headers, cookie: headerText(changed.join('; ')) } };
};
