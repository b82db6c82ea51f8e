import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { Cookie } from 'tough-cookie';

/** A request with these cookies, and its answer, without a server. */
export function exchange(cookies: Record<string, string>) {
  const req = new IncomingMessage(new Socket()) as Request;
  const res = new ServerResponse(req) as Response;
  const pairs = Object.entries(cookies).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  if (pairs.length > 0) req.headers.cookie = pairs.join('; ');
  return {
    req,
    res,
    /** The cookies that the answer sets, by name; values as the product gave them. */
    set(): Record<string, Cookie & { plain: string }> {
      const lines = [res.getHeader('set-cookie') ?? []].flat().map(String);
      return Object.fromEntries(
        lines.flatMap((line) => {
          const cookie = Cookie.parse(line);
          return cookie ? [[cookie.key, Object.assign(cookie, { plain: decodeURIComponent(cookie.value) })]] : [];
        }),
      );
    },
  };
}
