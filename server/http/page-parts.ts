import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import type { HttpExchange } from './cookies.ts';

/**
 * A script that shows a page's form in a dialog (client/lift.ts) asks for that part alone, with this header: `dialog`,
 * or `ahead` before the member has asked for it. A page of another site cannot send the header without the permission
 * that Foyer never gives (CORS), and the answer contains nothing that the page itself does not.
 */
const partHeader = 'foyer-part';
/** Where the answer leads, in place of a redirect: a script cannot read the address of a redirect. */
const locationHeader = 'Foyer-Location';

/** Tests whether the request asks for a part of the page alone. */
export const asksForPart = (req: IncomingMessage): boolean => req.headers[partHeader] !== undefined;

/** Tests whether the answer may never be shown: then it must use nothing up. */
export const asksAhead = (req: IncomingMessage): boolean => req.headers[partHeader] === 'ahead';

/** The element that a dialog shows, as `views/parts/dialog-card.tsx` marks it, or the notice of an error. */
const parts = /\sdata-lift=|\sdata-problem=/;

/** Answers with the part. A page without one is answered without content, so that the script goes to its address. */
export function sendPart(res: Response, html: string): void {
  if (parts.test(html)) res.type('html').send(html);
  else res.status(204).end();
}

/** 303 See Other; a script that asked for a part gets the address to decide by itself. */
export function seeOther({ req, res }: HttpExchange, address: string): void {
  if (!asksForPart(req)) {
    res.redirect(303, address);
    return;
  }
  // Express encodes the address.
  const encoded = res.location(address).get('Location');
  res.removeHeader('Location');
  res.status(204).set(locationHeader, encoded).end();
}
