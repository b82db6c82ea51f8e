import type { ReactNode } from 'react';
import type { PageContext } from '../page-context.ts';
import { Arrival } from './arrival.tsx';
import { Footer } from './footer.tsx';
import { Header } from './header.tsx';
import { SkipLink } from './skip-link.tsx';
import { SubHeader, type SubHeaderItem } from './sub-header.tsx';
import { ThemeColor } from './theme-color.tsx';

interface PlainLayoutProps {
  ctx: PageContext;
  /**
   * `text` for a long text, `centre` for one short message, `wide` for tiles, `apps` for those that fill the window (`few`: for at most three),
   * `narrow` for one form.
   */
  shape: 'text' | 'centre' | 'wide' | 'apps' | 'apps few' | 'narrow';
  signOutAction?: string | undefined;
  /** Only the brand in the header. */
  bare?: boolean;
  /** Beside the brand alone: the button that signs out. */
  signOut?: boolean;
  /** For signed-in users: the second row of the header. */
  subHeader?: { backHref?: string | undefined; at?: SubHeaderItem };
  children: ReactNode;
}

/** Header, one column, footer. */
export function PlainLayout({ ctx, shape, signOutAction, bare, signOut, subHeader, children }: PlainLayoutProps) {
  if (ctx.isPart) return children;
  return (
    <div className="frame plain">
      <ThemeColor ctx={ctx} top="paper" />
      <SkipLink t={ctx.t} />
      {ctx.banner?.top}
      <Header ctx={ctx} signOutAction={signOutAction} bare={bare} signOut={signOut} />
      {subHeader !== undefined && ctx.member !== undefined && <SubHeader ctx={ctx} {...subHeader} />}
      <main className={`content ${shape}`} id="content" tabIndex={-1}>
        {children}
        <Arrival ctx={ctx} />
      </main>
      <Footer ctx={ctx} />
    </div>
  );
}
