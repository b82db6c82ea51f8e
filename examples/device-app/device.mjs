/**
 * A client app without a browser, such as a television or this terminal: the member signs in on another device
 * (OAuth 2.0 Device Authorization Grant, RFC 8628), with openid-client.
 */
import * as oidc from 'openid-client';
import { renderUnicodeCompact } from 'uqr';

const { ISSUER = 'http://localhost:3000', CLIENT_ID = 'device-example' } = process.env;

// A Foyer on this machine speaks plain http; a real one never.
const foyer = await oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, oidc.None(), {
  execute: ISSUER.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
});

async function signIn() {
  const begun = await oidc.initiateDeviceAuthorization(foyer, { scope: 'openid profile email' });
  // The code must be read from this device and compared: the address in the QR code brings it along, and asks all the same.
  if (begun.verification_uri_complete) console.log(renderUnicodeCompact(begun.verification_uri_complete));
  console.log(`The device example is ready: ${begun.verification_uri}`);
  console.log(`Open that address on another device, and enter the code ${begun.user_code}`);
  console.log(`It works for ${Math.round(begun.expires_in / 60)} minutes.`);
  // Asks as often as Foyer allows, and more slowly when it says so.
  return oidc.pollDeviceAuthorizationGrant(foyer, begun);
}

const tooLate = 'No one has entered the code in time. Start again.';

/** What Foyer has said (RFC 8628, section 3.5), or what else went wrong. @param {unknown} error */
function messageOf(error) {
  // The library stops by itself when the code is over.
  if (error instanceof oidc.ClientError && error.code === 'OAUTH_TIMEOUT') return tooLate;
  if (!(error instanceof oidc.ResponseBodyError)) return error instanceof Error ? error.message : String(error);
  if (error.error === 'access_denied') return 'The sign-in was refused on the other device.';
  if (error.error === 'expired_token') return tooLate;
  return [error.error, error.error_description].filter(Boolean).join(': ');
}

try {
  const tokens = await signIn();
  const claims = tokens.claims();
  if (!claims) throw new Error('there is no id token in the answer');
  const userInfo = await oidc.fetchUserInfo(foyer, tokens.access_token, claims.sub);
  console.log(`Hello, ${userInfo.name ?? userInfo.sub}`);
  // A device of your own keeps the refresh token where no one else reads it, and only the newest.
  console.log(`Signed in${tokens.refresh_token ? ', and can stay so by its refresh token' : ''}.`);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
