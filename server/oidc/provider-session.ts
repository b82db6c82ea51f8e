import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import { type CurrentSession, toAcr } from '../sessions/index.ts';

/** The provider's own session, synchronized with Foyer's (`security.md`, rule 4). */
export interface OidcSessions {
  /** Creates a provider session for this sign-in; the browser's earlier one ends. */
  replace(req: Request, res: Response, session: CurrentSession): Promise<void>;
  /** Replaces it only if it belongs to another user, or is missing. */
  align(req: Request, res: Response, session: CurrentSession): Promise<void>;
  end(req: Request, res: Response): Promise<void>;
}

export function createProviderSessions(
  provider: () => Provider,
  { rememberMs, idleMs }: { rememberMs: number; idleMs: number },
  cookieOptions: { secure: boolean },
): OidcSessions {
  const options = {
    httpOnly: true,
    sameSite: 'lax' as const,
    path: '/',
    signed: true,
    overwrite: true,
    ...cookieOptions,
  };

  async function replace(req: Request, res: Response, session: CurrentSession): Promise<void> {
    const current = provider();
    const ctx = current.createContext(req, res);
    await (await current.Session.get(ctx)).destroy();
    const fresh = new current.Session();
    fresh.loginAccount({
      accountId: session.userId,
      // auth_time comes from Foyer's record, never "now": a client app decides by it how fresh the authentication is.
      loginTs: Math.floor(session.authTimeMs / 1000),
      amr: session.amr,
      acr: toAcr(session.amr),
      transient: !session.remember,
    });
    const ttlMs = session.remember ? rememberMs : Math.max(idleMs, 24 * 60 * 60 * 1000);
    await fresh.save(Math.ceil(ttlMs / 1000));
    ctx.cookies.set(current.cookieName('session'), fresh.jti, {
      ...options,
      ...(session.remember && { maxAge: rememberMs }),
    });
  }

  return {
    replace,
    async align(req, res, session) {
      const current = provider();
      const there = await current.Session.get(current.createContext(req, res));
      if (there.accountId !== session.userId) await replace(req, res, session);
    },
    async end(req, res) {
      const current = provider();
      const ctx = current.createContext(req, res);
      await (await current.Session.get(ctx)).destroy();
      ctx.cookies.set(current.cookieName('session'), null, options);
    },
  };
}
