import type { ReactNode } from 'react';
import type { PageContext } from '../page-context.ts';
import { Footer } from './footer.tsx';
import { Header } from './header.tsx';
import { SandboxRibbon } from './sandbox-ribbon.tsx';

interface PlainLayoutProps {
  ctx: PageContext;
  /** `text` for something to read, `centre` for one short message, `wide` for tiles. */
  shape: 'text' | 'centre' | 'wide';
  signOutAction?: string;
  children: ReactNode;
}

/** Header, one column, footer. */
export function PlainLayout({ ctx, shape, signOutAction, children }: PlainLayoutProps) {
  return (
    <div className="frame plain">
      <a className="skip" href="#content">
        {ctx.t('common.skip')}
      </a>
      {ctx.sandbox !== undefined && <SandboxRibbon ctx={ctx} />}
      <Header ctx={ctx} signOutAction={signOutAction ?? '/logout'} />
      <main className={`content ${shape}`} id="content" tabIndex={-1}>
        {children}
      </main>
      <Footer ctx={ctx} />
    </div>
  );
}
