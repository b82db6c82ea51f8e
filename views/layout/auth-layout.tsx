import type { ReactNode } from 'react';
import type { PageContext } from '../page-context.ts';
import { Arches } from '../parts/arches.tsx';
import { Brand } from '../parts/mark.tsx';
import { SignOutForm } from '../parts/sign-out-form.tsx';
import { Arrival } from './arrival.tsx';
import { Footer } from './footer.tsx';
import { PublicNav } from './header.tsx';
import { SkipLink } from './skip-link.tsx';
import { ThemeColor } from './theme-color.tsx';

/**
 * The layout of sign-in pages: on wide screens the picture on the left and the form on the right, on phones stacked.
 */
export function AuthLayout(props: {
  ctx: PageContext;
  /** The form needs a phone's whole height. */
  long?: boolean;
  /** Shows the links (Search, Login, Sign Up) except the one of this page. */
  nav?: 'signIn' | 'signUp';
  /** For a signed-in user: the button that signs out. */
  signOut?: boolean;
  children: ReactNode;
}) {
  const { ctx, long, nav, signOut, children } = props;
  if (ctx.isPart) return children;
  return (
    <div className="frame">
      <ThemeColor ctx={ctx} top="wall" />
      <SkipLink t={ctx.t} />
      {ctx.banner?.top}
      <div className={long ? 'auth long' : 'auth'}>
        <header className="auth-side">
          <div className="auth-top">
            <Brand brand={ctx.brand} />
            {nav !== undefined && <PublicNav ctx={ctx} at={nav} />}
            {signOut && <SignOutForm t={ctx.t} />}
          </div>
          <div className="auth-words">
            <p className="auth-headline">{ctx.t('common.authLayout.headline')}</p>
            <p>{ctx.t('common.authLayout.lead')}</p>
          </div>
          <Arches />
        </header>
        <main className="auth-main" id="content" tabIndex={-1}>
          <div className="panel">{children}</div>
          <Arrival ctx={ctx} />
        </main>
        <Footer ctx={ctx} nav={nav} />
      </div>
    </div>
  );
}
