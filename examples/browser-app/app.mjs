/**
 * A client app that runs in the browser alone: oauth4webapi for the protocol (authorization code with PKCE, a public
 * client). Tokens are kept in memory: they go with the page, and no other script of the origin finds them in a storage.
 */
import * as oauth from '/oauth4webapi.js';

/** @type {{ issuer: string, clientId: string }} */
const config = await (await fetch('/config.json')).json();
const issuer = new URL(config.issuer);
/** @type {oauth.Client} */
const client = { client_id: config.clientId };
const redirectUri = `${location.origin}/`;
// A Foyer on this machine speaks plain http; a real one never.
const options = { [oauth.allowInsecureRequests]: issuer.protocol === 'http:' };

/** @type {{ accessToken: string, idToken: string, claims: oauth.IDToken } | undefined} */
let tokens;

/** Foyer's endpoints. */
const discover = async () => oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));

/** An address of Foyer with parameters. @param {string | undefined} endpoint @param {Record<string, string>} parameters */
function addressOf(endpoint, parameters) {
  if (endpoint === undefined) throw new Error('Foyer does not name this endpoint');
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

async function signIn() {
  const server = await discover();
  const [state, nonce, verifier] = [
    oauth.generateRandomState(),
    oauth.generateRandomNonce(),
    oauth.generateRandomCodeVerifier(),
  ];
  // This page ends here: what the way back is checked against waits in the tab's own storage.
  sessionStorage.setItem('pending', JSON.stringify({ state, nonce, verifier }));
  location.href = addressOf(server.authorization_endpoint, {
    client_id: client.client_id,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
}

/** Redeems the code. The library checks state and issuer, then audience, expiry and nonce of the id token. @param {URL} here */
async function finishSignIn(here) {
  const stored = sessionStorage.getItem('pending');
  sessionStorage.removeItem('pending');
  if (stored === null) throw new Error('no sign-in has begun in this tab');
  /** @type {{ state: string, nonce: string, verifier: string }} */
  const { state, nonce, verifier } = JSON.parse(stored);
  const server = await discover();
  const parameters = oauth.validateAuthResponse(server, client, here, state);
  const answer = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), parameters, redirectUri, verifier, options),
    { expectedNonce: nonce, requireIdToken: true },
  );
  const claims = oauth.getValidatedIdTokenClaims(answer);
  if (!claims || !answer.id_token) throw new Error('there is no id token in the answer');
  tokens = { accessToken: answer.access_token, idToken: answer.id_token, claims };
}

async function askUserInfo() {
  if (!tokens) throw new Error('no one is signed in');
  const server = await discover();
  const answer = await oauth.userInfoRequest(server, client, tokens.accessToken, options);
  return oauth.processUserInfoResponse(server, client, tokens.claims.sub, answer);
}

/** Out here, then out at Foyer, which sends the browser back (OpenID Connect RP-Initiated Logout). */
async function signOut() {
  const { end_session_endpoint } = await discover();
  const idToken = tokens?.idToken ?? '';
  tokens = undefined;
  location.href = addressOf(end_session_endpoint, { id_token_hint: idToken, post_logout_redirect_uri: redirectUri });
}

/** @param {string} id */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`there is no #${id}`);
  return found;
}

/** @param {string} id @param {object} claims */
function fill(id, claims) {
  const rows = Object.entries(claims).map(([name, value]) => {
    const row = document.createElement('tr');
    const [head, cell] = [document.createElement('th'), document.createElement('td')];
    head.scope = 'row';
    head.textContent = name;
    cell.textContent = typeof value === 'string' ? value : JSON.stringify(value);
    row.append(head, cell);
    return row;
  });
  element(id).replaceChildren(...rows);
}

async function show() {
  element('visitor').hidden = tokens !== undefined;
  element('member').hidden = tokens === undefined;
  if (!tokens) return;
  fill('claims', tokens.claims);
  const userInfo = await askUserInfo();
  fill('user-info', userInfo);
  element('title').textContent = `Hello, ${userInfo.name ?? userInfo.sub}`;
}

/** Does it, and says what went wrong. @param {() => Promise<void>} act */
async function attempt(act) {
  element('problem').textContent = '';
  try {
    await act();
  } catch (error) {
    console.warn(error);
    element('problem').textContent = error instanceof Error ? error.message : String(error);
  }
}

element('sign-in').addEventListener('click', () => attempt(signIn));
element('ask-again').addEventListener('click', () => attempt(show));
element('sign-out').addEventListener('click', () => attempt(signOut));

const here = new URL(location.href);
if (here.searchParams.has('code') || here.searchParams.has('error')) {
  // The code goes from the address bar and the history first.
  history.replaceState(null, '', redirectUri);
  await attempt(() => finishSignIn(here));
}
const said = element('problem').textContent;
await attempt(show);
if (said) element('problem').textContent = said;
