import type { IncomingMessage } from 'node:http';
import type { Client, Configuration, KoaContextWithOIDC } from 'oidc-provider';

/** What is wrong with a code, or with the sign-in that it began. */
export type DeviceFault = 'empty' | 'unknown' | 'expired' | 'used' | 'interrupted' | 'stale';

/** What the library wants the member to see. */
export type DevicePage =
  | { kind: 'enter'; xsrf: string; fault?: DeviceFault }
  | { kind: 'confirm'; xsrf: string; client: Client; userCode: string }
  | { kind: 'done'; client: Client }
  | { kind: 'refused' }
  | { kind: 'failed'; error: Error };

const views = new WeakMap<IncomingMessage, DevicePage>();

/** The page to answer with, once the library has stored everything and written its cookies. */
export const getDevicePage = (req: IncomingMessage): DevicePage | undefined => views.get(req);

/** Of a page that is older than another of the same browser, or than the session of the library: nothing is wrong with the code. */
const staleForm: ReadonlySet<unknown> = new Set(['xsrf token invalid', 'could not find device form details']);

const faults: Readonly<Record<string, DeviceFault>> = {
  NoCodeError: 'empty',
  NotFoundError: 'unknown',
  ExpiredError: 'expired',
  AlreadyUsedError: 'used',
};

/** The library's errors for these pages have no class that it gives out: they are known by name. */
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
  // Else the library answers 404.
  ctx.body = '';
}

/**
 * Sign-in on a device that has no browser (RFC 8628, Device Authorization Grant). The library has the protocol and says
 * what is to be seen; the pages are ours, and are sent when it is done (device-handlers.ts).
 */
export const deviceFlow: NonNullable<NonNullable<Configuration['features']>['deviceFlow']> = {
  enabled: true,
  // Eight letters without vowels: 34 bits, for ten minutes, behind a limit on guesses (RFC 8628, sections 5.1 and 6.1).
  charset: 'base-20',
  mask: '****-****',
  // Nobody looks at what a device says of itself.
  deviceInfo: () => ({}),
  userCodeInputSource: (ctx, _form, _out, error) => show(ctx, toDevicePage(error, deviceSecret(ctx))),
  userCodeConfirmSource: (ctx, _form, client, _info, userCode) =>
    show(ctx, { kind: 'confirm', xsrf: deviceSecret(ctx), client, userCode }),
  successSource(ctx) {
    if (ctx.oidc.client) show(ctx, { kind: 'done', client: ctx.oidc.client });
  },
};

export const deviceCodeSeconds = 10 * 60;
