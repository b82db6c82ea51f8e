import type { IncomingMessage } from 'node:http';
import type { Client, Configuration, KoaContextWithOIDC } from 'oidc-provider';

/** The fault of a code, or of the sign-in that it started. */
type DeviceFault = 'empty' | 'unknown' | 'expired' | 'used' | 'interrupted' | 'stale';

/** The page that the library wants to show. */
export type DevicePage =
  | { kind: 'enter'; xsrf: string; fault?: DeviceFault }
  | { kind: 'confirm'; xsrf: string; client: Client; userCode: string }
  | { kind: 'done'; client: Client }
  | { kind: 'refused' }
  | { kind: 'failed'; error: Error };

const views = new WeakMap<IncomingMessage, DevicePage>();

/** The page to send, after the library has stored its session and written its cookies. */
export const getDevicePage = (req: IncomingMessage): DevicePage | undefined => views.get(req);

/**
 * For a page that is older than another one of the same browser, or than the library's session: the code itself is
 * valid.
 */
const staleForm: ReadonlySet<unknown> = new Set(['xsrf token invalid', 'could not find device form details']);

const faults: Readonly<Record<string, DeviceFault>> = {
  NoCodeError: 'empty',
  NotFoundError: 'unknown',
  ExpiredError: 'expired',
  AlreadyUsedError: 'used',
};

/** The library does not export classes for these errors, so they are recognized by name. */
function toDevicePage(error: Error | undefined, xsrf: string): DevicePage {
  if (!error) return { kind: 'enter', xsrf };
  const name = error.constructor.name;
  if (name === 'AbortedError') return { kind: 'refused' };
  const fault = faults[name];
  if (fault !== undefined) return { kind: 'enter', xsrf, fault };
  if (staleForm.has(Reflect.get(error, 'error_description'))) return { kind: 'enter', xsrf, fault: 'stale' };
  return Reflect.get(error, 'expose') === true
    ? { kind: 'enter', xsrf, fault: 'interrupted' }
    : { kind: 'failed', error };
}

const deviceSecret = ({ oidc }: KoaContextWithOIDC): string =>
  String(Reflect.get(Object(oidc.session?.state), 'secret') ?? '');

function show(ctx: KoaContextWithOIDC, view: DevicePage): void {
  views.set(ctx.req, view);
  // Otherwise the library answers 404.
  ctx.body = '';
}

/**
 * The device authorization grant (RFC 8628). The library implements the protocol and selects the page; Foyer renders it
 * afterwards (device-pages.ts).
 */
export const deviceFlow: NonNullable<NonNullable<Configuration['features']>['deviceFlow']> = {
  enabled: true,
  // Eight letters without vowels: 34 bits, valid for ten minutes, with a limit on attempts (RFC 8628, sections 5.1 and
  // 6.1).
  charset: 'base-20',
  mask: '****-****',
  // Foyer does not use the device's description of itself.
  deviceInfo: () => ({}),
  userCodeInputSource: (ctx, _form, _out, error) => show(ctx, toDevicePage(error, deviceSecret(ctx))),
  userCodeConfirmSource: (ctx, _form, client, _info, userCode) =>
    show(ctx, { kind: 'confirm', xsrf: deviceSecret(ctx), client, userCode }),
  successSource(ctx) {
    if (ctx.oidc.client) show(ctx, { kind: 'done', client: ctx.oidc.client });
  },
};

export const deviceCodeSeconds = 10 * 60;
