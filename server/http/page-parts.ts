import type { IncomingMessage } from 'node:http';

/**
 * A script that shows a page's form in a dialog (client/lift.ts) asks for that part alone, with this header: `dialog`,
 * or `ahead` before the member has asked for it. A page of another site cannot send the header without the permission
 * that Foyer never gives (CORS), and the answer contains nothing that the page itself does not.
 */
const partHeader = 'foyer-part';

/** Tests whether the request asks for a part of the page alone. */
export const asksForPart = (req: IncomingMessage): boolean => req.headers[partHeader] !== undefined;

/**
 * Tests whether the answer may never be shown: then it must use nothing up. `Sec-Purpose` is the browser's own header
 * for pages that it fetches ahead.
 */
export const asksAhead = ({ headers }: IncomingMessage): boolean =>
  headers[partHeader] === 'ahead' || (headers['sec-purpose'] ?? '').includes('prefetch');
