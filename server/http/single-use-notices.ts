import { z } from 'zod';
import { toSealedText } from '../shared/index.ts';
import { parseStored, type SecretBox, UnsealError } from '../store/index.ts';
import type { HostCookies, HttpExchange } from './cookies.ts';

/**
 * The notice about a completed action travels to the next page in a sealed cookie, not in the address: the page deletes
 * it, so that a reload or a shared link does not show it again. It is the name of a fixed text, so a replayed copy only
 * shows a text of Foyer's to the same browser.
 */
export interface SingleUseNotices {
  /** @param name known to the page that shows it */
  announce(exchange: HttpExchange, name: string): void;
  /** Reads the notice and deletes it. */
  take(exchange: HttpExchange): string | undefined;
}

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
  return {
    announce({ res }, name) {
      const value = box.seal(JSON.stringify({ name, untilMs: now() + keptMs }), sealedAs);
      cookies.set(res, cookie, { value, maxAgeMs: keptMs });
    },
    take({ req, res }) {
      const value = cookies.read(req, cookie);
      // HEAD shows nothing, so it must not use the notice up.
      if (value === undefined || req.method !== 'GET') return undefined;
      cookies.clear(res, cookie);
      try {
        const { name, untilMs } = parseStored(schema, box.open(toSealedText(value), sealedAs));
        return untilMs > now() ? name : undefined;
      } catch (error) {
        if (error instanceof UnsealError) return undefined;
        throw error;
      }
    },
  };
}
