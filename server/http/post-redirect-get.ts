import type { Request, Response } from 'express';
import { z } from 'zod';
import { sha256 } from '../shared/index.ts';
import { parseStored, type SecretBox, UnsealError } from '../store/index.ts';
import type { HostCookies } from './cookies.ts';

/**
 * Post/Redirect/Get: what a form's page shows after a refusal travels to the page in a cookie, so that the browser's
 * history holds no POST that Reload or Back would send again. The server stores nothing: strangers have nothing to fill.
 *
 * The cookie is sealed for one page and one session, so that neither another site's page nor another member's form can
 * put words on a page. It is deleted when the page shows it. A copy that is sent again shows the same texts to the same
 * browser and does nothing else.
 */
export interface FormRecords {
  /** @param shown JSON values: texts and what was typed, never passwords or keys */
  keep(req: Request, res: Response, address: string, shown: object): void;
  /** Whether something waits to be shown on this page. */
  waits(req: Request, address: string): boolean;
  /** The answer that was kept for this page, once. */
  take(req: Request, res: Response, address: string): object | undefined;
}

export interface FormRecordSettings {
  cookies: HostCookies;
  box: SecretBox;
  /** The name of the cookie that holds the session, without its prefix. */
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
/** The browser asks for the page at once. */
const keptMs = 2 * 60_000;
/** Browsers keep cookies of up to 4,096 bytes with name and attributes (RFC 6265bis, section 5.6). */
const maxCharacters = 3_000;
/** For another tab. All cookies of a request share the limit of its headers. */
const maxOthers = 1;
/** Field limits are below the first of these: what is longer was refused for its length, or was not typed. */
const lengths = [1_000, 400, 100, 20];

/** Each page in each tab has its own: the address names the request of a client app. */
const toName = (address: string) => cookiePrefix + sha256(address).slice(0, 12);

/** The same value with no text longer than this. */
function shortened(value: unknown, max: number): unknown {
  return JSON.parse(JSON.stringify(value), (_name, one: unknown) =>
    typeof one === 'string' && one.length > max ? one.slice(0, max).toWellFormed() : one,
  );
}

export function createFormRecords({ cookies, box, sessionCookie, now }: FormRecordSettings): FormRecords {
  const taken = new WeakSet<Request>();
  const boundTo = (req: Request, address: string) =>
    JSON.stringify(['form', address, cookies.read(req, sessionCookie) ?? '']);

  function sealed(record: FormRecord, aad: string): string | undefined {
    for (const max of lengths) {
      const value = box.seal(JSON.stringify(shortened(record, max)), aad);
      if (value.length <= maxCharacters) return value;
    }
    return undefined;
  }

  function opened(value: string, aad: string): FormRecord | undefined {
    try {
      const record = parseStored(schema, box.open(value, aad));
      return record.untilMs > now() ? record : undefined;
    } catch (error) {
      if (error instanceof UnsealError) return undefined;
      throw error;
    }
  }

  return {
    keep(req, res, address, shown) {
      const name = toName(address);
      const retryAfter = res.getHeader('Retry-After');
      // With a 3xx it would say how long to wait before the redirect (RFC 9110, section 10.2.3).
      res.removeHeader('Retry-After');
      const record = {
        shown,
        untilMs: now() + keptMs,
        ...(retryAfter !== undefined && { retryAfter: `${retryAfter}` }),
      };
      const others = cookies.readAll(req, cookiePrefix).filter(([other]) => other !== name);
      for (const [other] of others.slice(0, Math.max(0, others.length - maxOthers))) cookies.clear(res, other);
      const value = sealed(record, boundTo(req, address));
      if (value !== undefined) cookies.set(res, name, value, { maxAgeMs: keptMs });
    },
    waits(req, address) {
      const value = cookies.read(req, toName(address));
      return value !== undefined && opened(value, boundTo(req, address)) !== undefined;
    },
    take(req, res, address) {
      // A handler that shows its page in another way than it began to asks twice.
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
