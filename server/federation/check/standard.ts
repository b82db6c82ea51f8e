import { FederationError } from '../identity.ts';
import { standardEndpoints } from '../providers/endpoints.ts';
import { fetchLimited } from '../providers/fetch-limited.ts';
import type { StrategySettings } from '../providers.ts';
import { isObject, parsedJson, probeCode } from './probe.ts';
import type { ProviderCheckResult } from './report.ts';

/** Checks whether Google, Facebook or Amazon accepts the credentials, with an invalid code. */
export async function checkStandard(
  id: 'google' | 'facebook' | 'amazon',
  { config, answerMs }: Pick<StrategySettings, 'config' | 'answerMs'>,
  redirectUri: string,
): Promise<ProviderCheckResult> {
  const [client, secret] = {
    google: [config.GOOGLE_CLIENT_ID, config.GOOGLE_CLIENT_SECRET],
    facebook: [config.FACEBOOK_APP_ID, config.FACEBOOK_APP_SECRET],
    amazon: [config.AMAZON_CLIENT_ID, config.AMAZON_CLIENT_SECRET],
  }[id];
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: probeCode,
    redirect_uri: redirectUri,
    client_id: client ?? '',
    client_secret: secret ?? '',
  });
  const fault = await fetchLimited(
    standardEndpoints(config)[id].token,
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
      body: form.toString(),
    },
    answerMs,
  ).then(
    ({ status, text }) => findTokenFault(status, text),
    (error: unknown) => {
      if (error instanceof FederationError) return `it does not answer (${error.detail})`;
      throw error;
    },
  );
  return { faults: fault === undefined ? [] : [fault], warnings: [] };
}

/** A provider that accepts the credentials only rejects the code: `invalid_grant`, or Facebook's 100. */
function findTokenFault(status: number, text: string): string | undefined {
  const claims = parsedJson(text);
  const error = isObject(claims) ? claims.error : undefined;
  const code = isObject(error) ? error.code : error;
  if (code === 'invalid_grant' || code === 100) return undefined;
  if (code === 'invalid_client' || code === 'unauthorized_client' || code === 1 || code === 101)
    return 'it does not take our client id and secret';
  const word = /^[\w]{1,60}$/.test(String(code)) ? `, ${String(code)}` : '';
  return `its token endpoint does not answer as it should (status ${status}${word})`;
}
