import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONWebKeySet } from 'jose';
import { type Form, formsIn } from '../fuzz/forms.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import {
  checkIdToken,
  checkTokenResponse,
  checkUserInfo,
  Findings,
  hasType,
  type Json,
} from './certification-conditions.ts';
import { type CertificationClient, type CertificationServer, redirectUri } from './certification-server.ts';

/** A parameter that is undefined is left out. */
export type Parameters = Record<string, string | undefined>;

export interface Metadata extends Json {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  userinfo_endpoint: string;
}

/** What a plan runs against. */
export interface Target {
  server: CertificationServer;
  metadata: Metadata;
  keys: JSONWebKeySet;
  /** The user of the browser. */
  member: CertificationServer['members'][number];
  responseMode?: 'form_post';
}

/** The end of the pages: the call of the client's address, or a page without a way on. */
interface Arrival {
  method: 'GET' | 'POST' | undefined;
  /** Those of the call: of its query, or of its form. */
  parameters: URLSearchParams;
  /** The names of the pages on which the user has acted. */
  pages: string[];
  /** The last page, if the client has not been called. */
  page: { status: number; text: string } | undefined;
}

export interface Tokens extends Json {
  access_token: string;
  id_token: string;
  refresh_token?: string;
}

export interface SignIn extends Pick<Arrival, 'pages'> {
  code: string;
  tokens: Tokens;
  claims: Json;
}

interface SignInOptions {
  client?: CertificationClient;
  method?: 'GET' | 'POST';
  secretInBody?: boolean;
  /** More fields of the token request. */
  fields?: Record<string, string>;
  /** The order of the parameters of the authorization request. */
  order?: (entries: [string, string][]) => [string, string][];
}

const randomText = (length: number) => randomBytes(length).toString('base64url').slice(0, length);
const defined = (parameters: Parameters) =>
  Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
const namesIn = ({ fields }: Form) => new Set(fields.map(([name]) => name));

/** One module's run: its own browser, the suite's requests, and the findings. Each request and answer is as the suite's. */
export class Flow {
  readonly findings = new Findings();
  readonly target: Target;
  readonly #browser: Browser;

  constructor(target: Target) {
    this.target = target;
    this.#browser = target.server.browser();
  }

  get clients() {
    return this.target.server.clients;
  }

  wait = (seconds: number): Promise<void> => sleep(seconds * 1000);

  request(change: Parameters = {}, client = this.clients[0]): Parameters {
    return {
      client_id: client.id,
      redirect_uri: redirectUri,
      scope: 'openid',
      state: randomText(10),
      nonce: randomText(10),
      response_type: 'code',
      response_mode: this.target.responseMode,
      ...change,
    };
  }

  /** Sends an authorization request and acts on the pages until the client is called. */
  async authorize(parameters: Parameters, { method = 'GET', order = (entries) => entries }: SignInOptions = {}) {
    const query = new URLSearchParams(order(defined(parameters))).toString();
    const { authorization_endpoint: endpoint } = this.target.metadata;
    const fromSuite = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const answer =
      method === 'GET'
        ? await this.#browser.get(`${endpoint}?${query}`, { from: 'cross-site' })
        : await this.#browser.submitText(endpoint, query, { origin: new URL(redirectUri).origin, ...fromSuite });
    const arrival = await this.#follow(answer);
    if (arrival.method !== undefined) this.#checkCall(arrival, parameters);
    return arrival;
  }

  /** Without scripts: redirects, pages that go on by themselves, and forms. */
  async #follow(first: Response): Promise<Arrival> {
    const pages: string[] = [];
    let answer = first;
    for (let hops = 0; hops < 20; hops += 1) {
      const text = await answer.clone().text();
      const next = answer.headers.has('location') ? locationOf(answer) : this.#findRefresh(text, answer.url);
      if (next?.startsWith(redirectUri)) {
        this.findings.must(!next.includes('#'), 'the answer has a fragment');
        return { method: 'GET', parameters: new URL(next).searchParams, pages, page: undefined };
      }
      if (next !== undefined) {
        answer = await this.#browser.get(next, { from: 'same-origin' });
        continue;
      }
      const form = formsIn(text, answer.url).find((each) => this.#isNext(each, answer.status));
      if (!form) {
        return { method: undefined, parameters: new URLSearchParams(), pages, page: { status: answer.status, text } };
      }
      const body = new URLSearchParams(this.#fillIn(form));
      if (form.action === redirectUri) {
        this.findings.must(hasType(answer, 'text/html'), 'the answer is no page');
        this.findings.must(form.method === 'POST', `the form’s method is ${form.method}`);
        this.findings.must(!/<form[^>]*\senctype=/i.test(text), 'the form is sent with another type');
        return { method: 'POST', parameters: body, pages, page: undefined };
      }
      pages.push(new URL(form.action).pathname);
      answer = await this.#browser.submitText(form.action, body.toString());
    }
    throw new Error(`the pages do not end: ${pages.join(' ')}`);
  }

  #findRefresh(html: string, address: string): string | undefined {
    const href = /http-equiv="refresh" content="0; url=([^"]+)"/i.exec(html)?.[1];
    return href === undefined ? undefined : new URL(href.replaceAll('&amp;', '&'), address).href;
  }

  /** Tests for a form that a user needs on the way, unlike that of the language. */
  #isNext(form: Form, status: number): boolean {
    const names = namesIn(form);
    // A refused page of Foyer ends the way; an error for the client may have that status too.
    if (form.action === redirectUri || status >= 400) return form.action === redirectUri;
    return names.has('password') || names.has('authorization_code');
  }

  #fillIn(form: Form): [string, string][] {
    if (!namesIn(form).has('password'))
      return form.fields.filter(([, value]) => value !== 'deny').map(([...pair]) => pair);
    const { email, password } = this.target.member;
    const isHidden = ([name]: Form['fields'][number]) => !['username', 'password', 'remember'].includes(name);
    return [...form.fields.filter(isHidden), ['username', email], ['password', password]];
  }

  #checkCall({ method, parameters }: Arrival, { state }: Parameters): void {
    const { responseMode, metadata } = this.target;
    this.findings.must(method === (responseMode === 'form_post' ? 'POST' : 'GET'), `the client is called by ${method}`);
    this.findings.must(parameters.get('state') === state, `state is ${parameters.get('state')}`);
    const issuer = parameters.get('iss') ?? metadata.issuer;
    this.findings.must(issuer === metadata.issuer, `iss of the answer is ${issuer}`);
  }

  /** A call of the client's server; Basic authentication as RFC 6749, section 2.3.1, says. */
  async callTokenEndpoint(
    fields: Record<string, string>,
    options: Pick<SignInOptions, 'client' | 'secretInBody'> = {},
  ) {
    const { client = this.clients[0], secretInBody = false } = options;
    const methods = [this.target.metadata.token_endpoint_auth_methods_supported].flat();
    const authentication = secretInBody ? 'client_secret_post' : 'client_secret_basic';
    this.findings.must(methods.includes(authentication), `discovery lacks ${authentication}`);
    const pair = [client.id, client.secret].map(encodeURIComponent).join(':');
    const secret: Record<string, string> = secretInBody ? { client_id: client.id, client_secret: client.secret } : {};
    const answer = await this.target.server.browser().request(this.target.metadata.token_endpoint, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...(!secretInBody && { authorization: `Basic ${btoa(pair)}` }),
      },
      body: new URLSearchParams({ ...fields, ...secret }).toString(),
    });
    return { answer, body: (await answer.clone().json()) as Json };
  }

  redeem(code: string, options: SignInOptions = {}) {
    const fields = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...options.fields };
    return this.callTokenEndpoint(fields, options);
  }

  /** @param how the token is in the header unless the body is named */
  async callUserInfo(accessToken: string, how: 'GET' | 'POST' | 'body' = 'GET'): Promise<Response> {
    const isForm = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.target.server.browser().request(this.target.metadata.userinfo_endpoint, {
      method: how === 'GET' ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(how === 'body' ? isForm : { authorization: `Bearer ${accessToken}` }),
      },
      ...(how === 'body' && { body: new URLSearchParams({ access_token: accessToken }).toString() }),
    });
  }

  /** A whole sign-in with all checks that each module makes. */
  async signIn(change: Parameters = {}, options: SignInOptions = {}): Promise<SignIn> {
    const { client = this.clients[0] } = options;
    const parameters = this.request(change, client);
    const { parameters: answer, pages, page } = await this.authorize(parameters, options);
    const code = answer.get('code');
    if (code === null) throw new Error(`no code: ${answer} ${page?.status ?? ''} ${page?.text.slice(0, 2_000) ?? ''}`);
    const { answer: sent, body } = await this.redeem(code, { ...options, client });
    checkTokenResponse(this.findings, sent, body);
    const claims = await this.checkIdToken(String(body.id_token), parameters.nonce, client);
    const info = await this.callUserInfo(String(body.access_token));
    await checkUserInfo(this.findings, info, claims.sub);
    return { code, pages, claims, tokens: body as Tokens };
  }

  checkIdToken(idToken: string, nonce: string | undefined, client = this.clients[0]): Promise<Json> {
    const { keys, metadata } = this.target;
    return checkIdToken(this.findings, idToken, { issuer: metadata.issuer, clientId: client.id, nonce, keys });
  }
}
