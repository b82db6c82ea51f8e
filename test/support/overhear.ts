import { listenToAnswers } from './http-client.ts';

/** Names of values that are not secret. All other values in a request count as secret. */
const harmless = new Set([
  ...[
    'client_id',
    'redirect_uri',
    'response_type',
    'response_mode',
    'scope',
    'grant_type',
    'prompt',
    'max_age',
    'display',
  ],
  ...[
    'code_challenge_method',
    'ui_locales',
    'token_type_hint',
    'iss',
    'error',
    'error_description',
    'redirect',
    'token_type',
  ],
  ...[
    'logout_uri',
    'post_logout_redirect_uri',
    'decision',
    'remember',
    'method',
    'act',
    'language',
    'version',
    'forceAuth',
    'notice',
  ],
]);

/** Secret or personal properties of a JSON answer. */
const secretAnswers = new Set([
  ...[
    'access_token',
    'refresh_token',
    'id_token',
    'location',
    'email',
    'phone_number',
    'given_name',
    'family_name',
    'flow',
  ],
]);

/** A shorter value could be part of any line. */
const leastCharacters = 6;

/** As servers read cookies: undecodable values stay unchanged. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

export interface Overheard {
  /** Value → the name under which it was last sent. */
  secrets: Map<string, string>;
  /** All names under which secrets were sent. */
  names: Set<string>;
  add(name: string, value: string): void;
  /** The names of the secrets in a text, plain or encoded. */
  foundIn(text: string): string[];
  stop(): void;
}

/** Listens to every request of this process, and stores each secret, in either direction. */
export function overhear(): Overheard {
  const secrets = new Map<string, string>();
  const names = new Set<string>();

  function add(name: string, value: string): void {
    if (value.length < leastCharacters) return;
    secrets.set(value, name);
    names.add(name);
    // The parts of a JWT, or a cookie's value and its signature.
    const parts = value.replace(/^s:/, '').split('.');
    if (parts.length === 1) return;
    names.add(`parts of ${name}`);
    for (const part of parts) if (part.length >= 16) secrets.set(part, `part of ${name}`);
  }
  function addParameters(search: URLSearchParams): void {
    for (const [name, value] of search) if (!harmless.has(name)) add(name, value);
  }
  function addAddress(address: string, base: string): void {
    const url = new URL(address, base);
    addParameters(url.searchParams);
    if (url.hash !== '') addParameters(new URLSearchParams(url.hash.slice(1)));
  }
  function addJson(value: unknown, wanted: (name: string) => boolean, base: string, name = ''): void {
    if (typeof value === 'string') {
      if (name === 'location') addAddress(value, base);
      else if (wanted(name)) add(name, value);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) addJson(inner, wanted, base, key);
    }
  }
  function addCookie(pair: string): void {
    const at = pair.indexOf('=');
    add(`cookie ${pair.slice(0, at)}`, decoded(pair.slice(at + 1)));
  }
  function addRequest(request: Request, body: string): void {
    addAddress(request.url, request.url);
    for (const pair of request.headers.get('cookie')?.split('; ') ?? []) addCookie(pair);
    const [scheme, credentials = ''] = request.headers.get('authorization')?.split(' ') ?? [];
    if (scheme === 'Basic') add('client secret', Buffer.from(credentials, 'base64').toString().split(':')[1] ?? '');
    add('authorization', credentials);
    const type = request.headers.get('content-type') ?? '';
    if (type.includes('urlencoded')) addParameters(new URLSearchParams(body));
    else if (type.includes('json')) {
      try {
        addJson(JSON.parse(body), (name) => !harmless.has(name), request.url);
      } catch {
        add('body that is no JSON', body);
      }
    }
  }

  const stop = listenToAnswers(async (request, answer) => {
    addRequest(request, await request.clone().text());
    for (const line of answer.headers.getSetCookie()) addCookie(line.split(';', 1)[0] ?? '');
    const location = answer.headers.get('location');
    if (location !== null) addAddress(location, request.url);
    if (answer.headers.get('content-type')?.includes('json')) {
      const text = await answer.clone().text();
      if (text !== '') addJson(JSON.parse(text), (name) => secretAnswers.has(name), request.url);
    }
  });

  return {
    secrets,
    names,
    add,
    foundIn: (text) =>
      [...secrets].flatMap(([value, name]) => {
        const forms = [
          value,
          encodeURIComponent(value),
          JSON.stringify(value).slice(1, -1),
          btoa(encodeURIComponent(value)),
        ];
        // Six digits may be part of a time, a duration or an id: there they have digits beside them.
        const found = /^\d+$/.test(value)
          ? new RegExp(`(?<![0-9a-f])${value}(?![0-9a-f])`).test(text)
          : forms.some((form) => text.includes(form));
        return found ? [`${name}: ${value}`] : [];
      }),
    stop,
  };
}
