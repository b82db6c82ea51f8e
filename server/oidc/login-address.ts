import { keepOpener, type RequestContext, traitsOfParameters } from '../http/index.ts';
import { routes } from './routes-table.ts';

/**
 * GET /login: Amazon Cognito's address of the sign-in form. Client apps send authorization requests there; without one
 * it leads to the sign-in page.
 */
export function redirectLogin(r: RequestContext): void {
  const { originalUrl } = r.req;
  const at = originalUrl.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : originalUrl.slice(at));
  if (traitsOfParameters(Object.fromEntries(query)).popup) keepOpener(r.res);
  r.redirect(query.has('response_type') ? `${routes.authorization}${originalUrl.slice(at)}` : '/');
}
