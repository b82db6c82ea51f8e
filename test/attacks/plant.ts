import { createHash } from 'node:crypto';
import { sha256 } from '../../server/shared/index.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';

/** The name of the cookie that binds a pending request to its browser. */
export function requestCookie(id: string): string {
  return `foyer_request_${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
}

export const requestKey = (id: string) => `authorization-request:${sha256(id)}`;

/** Defeats the first lock by force: row and cookie say that the request started in this browser long ago. */
export async function plantRequest(foyer: TestFoyer, browser: Browser, id: string): Promise<void> {
  await foyer.stores.kv.set(requestKey(id), JSON.stringify({ browser: sha256('planted'), begunAtMs: 0 }), 60_000);
  await browser.jar.setCookie(`${requestCookie(id)}=0.planted; Path=/`, foyer.url);
}
