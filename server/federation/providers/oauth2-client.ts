import { type dataCallback as Callback, OAuth2 } from 'oauth';
import { parseUnknownJson } from '../../shared/index.ts';
import { FederationError } from '../identity.ts';
import type { StrategySettings } from '../providers.ts';
import { fetchLimited } from './fetch-limited.ts';

interface ClientOptions {
  clientID: string;
  clientSecret: string;
  authorizationURL: string;
  tokenURL: string;
  /** `get` sends the token in a header, else in the address. */
  bearer: boolean;
}

/**
 * The client of `passport-oauth2` for the token endpoint and for profiles, with limits of time and size. The original
 * waits and reads without limits, and an error while it reads a response ends the process.
 */
export class LimitedOAuth2Client extends OAuth2 {
  private readonly settings: Pick<StrategySettings, 'answerMs'>;

  constructor(
    { clientID, clientSecret, authorizationURL, tokenURL, bearer }: ClientOptions,
    settings: Pick<StrategySettings, 'answerMs'>,
  ) {
    super(clientID, clientSecret, '', authorizationURL, tokenURL);
    this._useAuthorizationHeaderForGET = bearer;
    this.settings = settings;
  }

  protected override _request(
    method: string,
    url: string,
    headers: Record<string, string> | null,
    postBody: unknown,
    accessToken: string | null,
    callback: Callback,
  ): void {
    const address = new URL(url);
    if (accessToken) address.searchParams.set('access_token', accessToken);
    const body = method === 'POST' && typeof postBody === 'string' ? { body: postBody } : {};
    const init = { method, headers: { ...headers, Accept: 'application/json' }, ...body };
    // Its type lacks success, where the error is null, and errors other than those of HTTP.
    const respond = (...result: [error: unknown, body?: string]) => Reflect.apply(callback, undefined, result);
    fetchLimited(address, init, this.settings.answerMs)
      .then(({ status, text }) => {
        // The form of an error that the strategies read.
        if (status < 200 || status > 299) callback({ statusCode: status, data: text });
        else respond(null, checkedJson(text, address.origin));
      })
      .catch(respond);
  }
}

/** Token endpoints and profiles answer an object; the strategies read its members without a check. */
function checkedJson(text: string, origin: string): string {
  let answer: unknown;
  try {
    answer = parseUnknownJson(text);
  } catch {
    throw new FederationError('invalid', `${origin}: no JSON`);
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new FederationError('invalid', `${origin}: no object`);
  if ('access_token' in answer && (typeof answer.access_token !== 'string' || answer.access_token === ''))
    throw new FederationError('invalid', `${origin}: no access token`);
  return text;
}
