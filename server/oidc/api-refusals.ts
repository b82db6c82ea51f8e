import { errors } from 'oidc-provider';
import { HttpError } from '../http/index.ts';
import { proofAlgorithms } from './dpop.ts';

/** RFC 6750, section 3: WWW-Authenticate names what the caller lacks. */
export const challenge = (...parameters: string[]) => ({
  headers: { 'WWW-Authenticate': ['Bearer realm="api"', ...parameters].join(', ') },
});

/** RFC 9449, section 7.1: the other authentication scheme for tokens. */
const proofChallenge = (...parameters: string[]) =>
  ['DPoP realm="api"', ...parameters, `algs="${proofAlgorithms.join(' ')}"`].join(', ');

export function unauthorized(error?: 'invalid_token', description?: string): HttpError {
  if (error === undefined) {
    const headers = { 'WWW-Authenticate': `Bearer realm="api", ${proofChallenge()}` };
    return new HttpError('unauthorized', { detail: 'no credentials', headers });
  }
  const parameters = [`error="${error}"`, `error_description="${description}"`];
  const detail = description ?? error;
  return new HttpError('tokenRevoked', { detail, publicDetail: detail, ...challenge(...parameters) });
}

export function unproven(error: string, description: string): HttpError {
  const parameters = [`error="${error}"`, `error_description="${description.replaceAll('"', "'")}"`];
  return new HttpError('invalidProof', {
    detail: description,
    publicDetail: description,
    headers: { 'WWW-Authenticate': proofChallenge(...parameters) },
  });
}

/** Converts the library's errors of a proof to answers of this API. */
export async function orUnproven<T>(check: Promise<T>): Promise<T> {
  try {
    return await check;
  } catch (error) {
    if (!(error instanceof errors.OIDCProviderError)) throw error;
    throw unproven(error.error, error.error_description ?? error.error);
  }
}

/** A valid token without the scope of the call. */
export const lacksScope = (scope: string): HttpError =>
  new HttpError('insufficientScope', {
    detail: `lacks ${scope}`,
    extra: { scope },
    ...challenge('error="insufficient_scope"', `scope="${scope}"`),
  });

/** Valid credentials of a kind of caller to whom the call is not open. */
export const wrongCaller = (detail: string): HttpError =>
  new HttpError('wrongCaller', {
    detail,
    publicDetail: `The call is ${detail}.`,
    ...challenge('error="insufficient_scope"'),
  });
