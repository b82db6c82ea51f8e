import { z } from 'zod';
import { toSealedText } from '../shared/index.ts';
import { parseStored, type SecretBox, UnsealError } from '../store/index.ts';
import type { HostCookies, HttpExchange } from './cookies.ts';
import { asksAhead } from './page-parts.ts';

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

/** The address of a page of this site, and the notice that the page shows once. */
export class AddressWithNotice {
  readonly address: string;
  readonly notice: string;
  constructor(address: string, notice: string) {
    this.address = address;
    this.notice = notice;
  }
}

/** The next page. An address never carries a notice: anyone can write one. */
export type NextPage = string | AddressWithNotice;

export const toAddress = (page: NextPage): string => (typeof page === 'string' ? page : page.address);

const cookie = 'foyer_notice';
const sealedAs = 'notice';
/** The browser requests the page at once. */
const keptMs = 2 * 60_000;

const schema = z.object({ name: z.string(), untilMs: z.number() });

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
      const { name, untilMs } = parseStored(schema, box.open(toSealedText(value), sealedAs));
      return untilMs > now() ? name : undefined;
    } catch (error) {
      if (error instanceof UnsealError) return undefined;
      throw error;
    }
  };
  return {
    announce({ res }, name) {
      announced.set(res, name);
      const value = box.seal(JSON.stringify({ name, untilMs: now() + keptMs }), sealedAs);
      cookies.set(res, cookie, { value, maxAgeMs: keptMs });
    },
    take({ req, res }, find) {
      if (taken.has(res)) return undefined;
      const value = cookies.read(req, cookie);
      // HEAD shows nothing, and a page that is fetched ahead may never be shown.
      const isShown = value !== undefined && req.method === 'GET' && !asksAhead(req);
      // A form can be answered with a page that redirects, in place of a redirect.
      const name = announced.get(res) ?? (isShown ? read(value) : undefined);
      const found = name === undefined ? undefined : find(name);
      if (found !== undefined) taken.add(res);
      return found;
    },
    clearShown({ res }) {
      if (taken.delete(res)) cookies.clear(res, cookie);
    },
  };
}
