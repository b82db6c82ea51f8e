import type { Request } from 'express';
import { z } from 'zod';
import { sha256, toSealedText } from '../shared/index.ts';
import { parseStored, type SecretBox, UnsealError } from '../store/index.ts';
import type { HostCookies, HttpExchange } from './cookies.ts';

/**
 * Post/Redirect/Get: the view of a refused form travels to the page in a cookie, so that the browser's history has no
 * POST that Reload or Back would send again. The server stores nothing, so visitors cannot fill its store.
 * The cookie is sealed for one page and one session, so that neither another site's page nor another user's form can
 * put words on a page. It is deleted when the page shows it. A replayed copy only shows the same texts to the same
 * browser.
 */
export interface FormRecords {
  /** @param state JSON values: texts and form input, never passwords or keys */
  keep(exchange: HttpExchange, address: string, state: object): void;
  /** Tests whether a record waits for this page. */
  waits(req: Request, address: string): boolean;
  /** Reads the record of this page and deletes it. */
  take(exchange: HttpExchange, address: string): object | undefined;
}

interface FormRecordSettings {
  cookies: HostCookies;
  box: SecretBox;
  /** The name of the session cookie, without its prefix. */
  sessionCookie: string;
  now: () => number;
}

const schema = z.object({
  shown: z.looseObject({}),
  retryAfter: z.string().optional(),
  untilMs: z.number(),
});
type FormRecord = Omit<z.infer<typeof schema>, 'shown'> & { shown: object };

const cookiePrefix = 'foyer_form_';
/** The browser requests the page at once. */
const keptMs = 2 * 60_000;
/** Browsers keep cookies of up to 4,096 bytes with name and attributes (RFC 6265bis, section 5.6). */
const maxCharacters = 3_000;
/** One for another tab. All cookies of a request share the size limit of its headers. */
const maxOthers = 1;
/** Field limits are below the first of these: longer values were refused for their length, or were not typed. */
const lengths = [1_000, 400, 100, 20];

/** Each page in each tab has its own cookie: the address contains the id of a client app's request. */
const toName = (address: string) => cookiePrefix + sha256(address).slice(0, 12);

/** Shortens every text in the value to this length. */
function shortened(value: unknown, max: number): string {
  return JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'string' && one.length > max ? one.slice(0, max).toWellFormed() : one,
  );
}

export function createFormRecords({ cookies, box, sessionCookie, now }: FormRecordSettings): FormRecords {
  const taken = new WeakSet<Request>();
  const boundTo = (req: Request, address: string) =>
    JSON.stringify(['form', address, cookies.read(req, sessionCookie) ?? '']);

  function sealed(record: FormRecord, aad: string): string | undefined {
    for (const max of lengths) {
      const value = box.seal(shortened(record, max), aad);
      if (value.length <= maxCharacters) return value;
    }
    return undefined;
  }

  function opened(value: string, aad: string): FormRecord | undefined {
    try {
      const record = parseStored(schema, box.open(toSealedText(value), aad));
      return record.untilMs > now() ? record : undefined;
    } catch (error) {
      if (error instanceof UnsealError) return undefined;
      throw error;
    }
  }

  return {
    keep({ req, res }, address, state) {
      const name = toName(address);
      const retryAfter = res.getHeader('Retry-After');
      // With a 3xx status it would delay the redirect (RFC 9110, section 10.2.3).
      res.removeHeader('Retry-After');
      const record = {
        shown: state,
        untilMs: now() + keptMs,
        ...(retryAfter !== undefined && { retryAfter: `${retryAfter}` }),
      };
      const others = cookies.readAll(req, cookiePrefix).filter(([other]) => other !== name);
      for (const [other] of others.slice(0, Math.max(0, others.length - maxOthers))) cookies.clear(res, other);
      const value = sealed(record, boundTo(req, address));
      if (value !== undefined) cookies.set(res, name, { value, maxAgeMs: keptMs });
    },
    waits(req, address) {
      const value = cookies.read(req, toName(address));
      return value !== undefined && opened(value, boundTo(req, address)) !== undefined;
    },
    take({ req, res }, address) {
      // A handler may ask twice when it switches to another view of its page.
      if (taken.has(req)) return undefined;
      taken.add(req);
      const name = toName(address);
      const value = cookies.read(req, name);
      if (value === undefined) return undefined;
      cookies.clear(res, name);
      const record = opened(value, boundTo(req, address));
      if (record?.retryAfter !== undefined) res.setHeader('Retry-After', record.retryAfter);
      return record?.shown;
    },
  };
}
