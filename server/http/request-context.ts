import type { Request, Response } from 'express';
import { createElement, type FunctionComponent } from 'react';
import type { TextKey } from '../../locales/index.ts';
import type { PageContext } from '../../views/page-context.ts';
import { type Continuation, continuationFrom, withContinuation } from './continuation.ts';
import type { CookieLifetime, HostCookies, HttpExchange } from './cookies.ts';
import { setRetryAfter } from './errors.ts';
import { type Form, type ReadForm, readForm } from './forms.ts';
import { type Language, resolveLanguage, type T } from './language.ts';
import type { Logger } from './log.ts';
import { type PageOptions, type Pages, renderRedirectPage, seeOther } from './pages.ts';
import { readFormField, readQueryParam } from './request-body.ts';
import { belongToRequest } from './request-traits.ts';

/** The address of a page of this site, and the notice that the page shows once. */
export class AddressWithNotice {
  readonly address: string;
  readonly notice: string;
  constructor(address: string, notice: string) {
    this.address = address;
    this.notice = notice;
  }
}

/** The next page. An address never carries a notice: anyone can write one. */
export type NextPage = string | AddressWithNotice;

export const toAddress = (page: NextPage): string => (typeof page === 'string' ? page : page.address);

/** The services of the application that every request can use. */
export interface RequestServices {
  publicUrl: string;
  pages: Pages;
  log: Logger;
  cookies: HostCookies;
}

/** The answer around a page. */
interface PageAnswer extends Omit<PageOptions, 'title'> {
  /** A key of the texts, or a function for a title with values. */
  title: TextKey | PageOptions['title'];
  /** The query of the continuation, for the links from and to the sign-in pages. */
  search?: string;
}

/** The answer to a form, and to the visit of its page. */
interface FormAnswer<Props> extends Omit<PageAnswer, 'status'> {
  address: string;
  /** The properties that the submission decides, and the status. JSON values; never passwords or keys. */
  view: Partial<Props> & { status?: number };
}

/** The browser of a request, for notices of security. */
interface RequestOrigin {
  ip: string;
  userAgent: string | undefined;
  /** The browser's own language. */
  lang: Language;
}

export function getRequestOrigin(req: Request): RequestOrigin {
  return {
    ip: req.ip ?? '',
    userAgent: req.get('user-agent'),
    lang: resolveLanguage(req.get('accept-language')),
  };
}

/** The usual form of an address: without the prefix of an IPv4 address in IPv6 (RFC 4291, section 2.5.5.2). */
export const plainAddress = (ip: string | undefined): string => (ip ?? '').replace(/^::ffff:/, '');

/** The longest address (RFC 5321). */
const maxEmailLength = 254;

/** An address that another page of Foyer has passed on (`email`), to fill in a field; '' if none, or no address. */
export function prefilledEmail(r: Pick<RequestContext, 'query'>): string {
  const email = r.query('email')?.trim() ?? '';
  return email.length <= maxEmailLength && /^[^\s\p{Cc}\p{Cf}@]+@[^\s\p{Cc}\p{Cf}@]+$/u.test(email) ? email : '';
}

/** The request of a page or form, with everything that its handler reads and all its answers. */
export class RequestContext implements HttpExchange {
  readonly req: Request;
  readonly res: Response;
  readonly #services: RequestServices;
  #continuation: Continuation | undefined;

  constructor(req: Request, res: Response, services: RequestServices) {
    this.req = req;
    this.res = res;
    this.#services = services;
  }

  /** The texts in the language of the answer. */
  get t(): T {
    return this.req.t;
  }

  get lang(): Language {
    return this.req.language;
  }

  get log(): Logger {
    return this.#services.log;
  }

  get ip(): string {
    return this.req.ip ?? '';
  }

  get origin(): RequestOrigin {
    return getRequestOrigin(this.req);
  }

  /** The target after a sign-in, from the query. */
  get continuation(): Continuation {
    this.#continuation ??= continuationFrom(this.req, this.#services.publicUrl);
    return this.#continuation;
  }

  /** One text field of the form, '' if absent. @throws {HttpError} badRequest if it is repeated */
  field(name: string): string {
    return readFormField(this.req, name);
  }

  /** The submitted form. @throws {HttpError} badRequest if a field is repeated */
  form<Fields extends Form>(fields: Fields): ReadForm<Fields> {
    return readForm(this.req, fields);
  }

  /** One query parameter, undefined if absent. @throws {HttpError} badRequest if it is repeated */
  query(name: string): string | undefined {
    return readQueryParam(this.req, name);
  }

  /** One parameter of the path, '' if the path has none of this name. */
  param(name: string): string {
    const value = this.req.params[name];
    return typeof value === 'string' ? value : '';
  }

  cookie(base: string): string | undefined {
    return this.#services.cookies.read(this.req, base);
  }

  setCookie(base: string, value: string, lifetime: CookieLifetime = {}): void {
    this.#services.cookies.set(this.res, base, { value, ...lifetime });
  }

  clearCookie(base: string): void {
    this.#services.cookies.clear(this.res, base);
  }

  /** Answers with a page. `props`: all of its properties but the context. */
  render<Props extends { ctx: PageContext }>(
    Page: FunctionComponent<Props>,
    props: Omit<NoInfer<Props>, 'ctx'>,
    { title, search = '', ...answer }: PageAnswer,
  ): void {
    const toTitle = typeof title === 'string' ? (ctx: PageContext) => ctx.t(title) : title;
    this.#services.pages.send(
      this,
      // TypeScript does not see that `Omit<Props, 'ctx'>` and `ctx` make up `Props`.
      (ctx) => createElement(Page, { ...props, ctx: withContinuation(ctx, search) } as Props),
      { ...answer, title: toTitle },
    );
  }

  /** The same for the page of a form, by Post/Redirect/Get. `props`: what the view does not replace. */
  renderForm<Props extends { ctx: PageContext }>(
    Page: FunctionComponent<Props>,
    props: Omit<NoInfer<Props>, 'ctx'>,
    { view, ...answer }: FormAnswer<Omit<NoInfer<Props>, 'ctx'>>,
  ): void {
    const state = this.viewAt(answer.address, view);
    if (!state) return;
    const { status, ...more } = state;
    this.render<Props>(Page, { ...props, ...more }, { ...answer, status });
  }

  /**
   * Post/Redirect/Get: a POST is answered with a redirect to the page's address, and the GET that follows gets the view
   * that the POST wanted to show (see {@link Pages.viewAt}).
   * @param view JSON values; never passwords or keys
   * @returns the view to render; undefined if the redirect was sent
   */
  viewAt<View extends object>(address: string, view: View): View | undefined {
    return this.#services.pages.viewAt(this, address, view);
  }

  /** Tests whether this GET follows a refused form of the page (see {@link Pages.isRefused}). */
  followsRefusal(address: string): boolean {
    return this.#services.pages.isRefused(this.req, address);
  }

  /** A notice for the next page that takes it. @param name known to that page */
  announce(name: string): void {
    this.#services.pages.notices?.announce(this, name);
  }

  /**
   * Takes the notice of an action before this visit; the next visit gets none.
   * @param find finds what the page shows for it; undefined: it is for another page
   */
  takeNotice<Value>(find: (name: string) => Value | undefined): Value | undefined {
    return this.#services.pages.notices?.take(this, find);
  }

  /** Tests whether the page shows this notice. */
  takesNotice(name: string): boolean {
    return this.takeNotice((one) => one === name || undefined) ?? false;
  }

  /** 303 See Other, to a page of this site. */
  redirect(page: NextPage): void {
    if (page instanceof AddressWithNotice) this.announce(page.notice);
    seeOther(this, toAddress(page));
  }

  /** Leads to another site: see {@link renderRedirectPage}. @param to the name of a client app or provider */
  redirectAway(href: string, to?: string | { providerName: string }): void {
    renderRedirectPage(this.#services.pages, this, { href, to });
  }

  /** For an answer whose own address does not name its request: `address` is a page of the request in this browser. */
  belongToRequest(address: string): void {
    belongToRequest(this.#services.cookies, this, address);
  }

  setRetryAfter(ms: number): void {
    setRetryAfter(this.res, ms);
  }
}
