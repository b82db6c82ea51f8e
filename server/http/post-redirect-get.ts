import type { Request } from 'express';
import { z } from 'zod';
import { sha256, toSealedText } from '../shared/index.ts';
import { parseStored, type SecretBox, UnsealError } from '../store/index.ts';
import type { HostCookies, HttpExchange } from './cookies.ts';
import { asksAhead } from './request-traits.ts';

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

/**
 * The notice about a completed action travels to the next page in a sealed cookie, not in the address: the page deletes
 * it, so that a reload or a shared link does not show it again. It is the name of a fixed text, so a replayed copy only
 * shows a text of Foyer's to the same browser.
 */
export interface SingleUseNotices {
  /** @param name known to the page that shows it */
  announce(exchange: HttpExchange, name: string): void;
  /**
   * Reads the notice, if it is for the page.
   * @param find what the page shows for a notice; undefined: the notice is for another page
   */
  take<Value>(exchange: HttpExchange, find: (name: string) => Value | undefined): Value | undefined;
  /** Deletes the notice that was taken, when its page is sent. */
  clearShown(exchange: HttpExchange): void;
}

const noticeCookie = 'foyer_notice';
const noticeSealedAs = 'notice';

const noticeSchema = z.object({ name: z.string(), untilMs: z.number() });

export function createSingleUseNotices({
  cookies,
  box,
  now,
}: {
  cookies: HostCookies;
  box: SecretBox;
  now: () => number;
}): SingleUseNotices {
  const taken = new WeakSet<HttpExchange['res']>();
  const announced = new WeakMap<HttpExchange['res'], string>();
  const read = (value: string) => {
    try {
      const { name, untilMs } = parseStored(noticeSchema, box.open(toSealedText(value), noticeSealedAs));
      return untilMs > now() ? name : undefined;
    } catch (error) {
      if (error instanceof UnsealError) return undefined;
      throw error;
    }
  };
  return {
    announce({ res }, name) {
      announced.set(res, name);
      const value = box.seal(JSON.stringify({ name, untilMs: now() + keptMs }), noticeSealedAs);
      cookies.set(res, noticeCookie, { value, maxAgeMs: keptMs });
    },
    take({ req, res }, find) {
      if (taken.has(res)) return undefined;
      const value = cookies.read(req, noticeCookie);
      // HEAD shows nothing, and a page that is fetched ahead may never be shown.
      const isShown = value !== undefined && req.method === 'GET' && !asksAhead(req);
      // A form can be answered with a page that redirects, in place of a redirect.
      const name = announced.get(res) ?? (isShown ? read(value) : undefined);
      const found = name === undefined ? undefined : find(name);
      if (found !== undefined) taken.add(res);
      return found;
    },
    clearShown({ res }) {
      if (taken.delete(res)) cookies.clear(res, noticeCookie);
    },
  };
}
