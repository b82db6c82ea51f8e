import type { PageContext } from '../../views/page-context.ts';
import { Button } from '../../views/parts/button.tsx';
import { DeviceCode } from '../../views/parts/device-code.tsx';
import { Notice } from '../../views/parts/notice.tsx';
import { QrCode } from '../../views/parts/qr-code.tsx';
import { Stylesheet } from '../../views/parts/stylesheet.tsx';
import { textsFor } from '../texts.ts';

export interface TelevisionPageProps {
  ctx: PageContext;
  /** The target of its one button. */
  action: string;
  screen:
    | { kind: 'off'; error?: string }
    | { kind: 'waiting'; userCode: string; href: string; complete: string; qr: { size: number; path: string } }
    | { kind: 'signed-in'; name: string };
}

/** Simulates a device without a browser: shows a code, and the signed-in user. */
export function TelevisionPage({ ctx, action, screen }: TelevisionPageProps) {
  const t = textsFor(ctx);
  const brand = ctx.brand.name;
  return (
    <div className="frame plain demo">
      {ctx.banner?.top}
      {/* Of the QR code. */}
      <Stylesheet ctx={ctx} name="enrolment" />
      <header className="header">
        <a className="brand" href="/">
          <span className="demo-sign" aria-hidden="true" />
          <span>{t('sandbox.television.name')}</span>
        </a>
      </header>
      <main className="content wide">
        {screen.kind === 'off' && screen.error !== undefined && (
          <Notice kind="error" title={t('sandbox.demo.failed')}>
            {/* As the protocol says it, for developers. */}
            <code lang="en">{screen.error}</code>
          </Notice>
        )}
        <div className="hero">
          {screen.kind === 'waiting' ? (
            <>
              <h1>{t('sandbox.television.codeTitle')}</h1>
              <p className="lead muted">{t('sandbox.television.codeLead')}</p>
              <DeviceCode ctx={ctx} code={screen.userCode} />
              <QrCode label={t('sandbox.television.qr')} {...screen.qr} />
              <p>
                <a href={screen.complete} target="_blank" rel="noopener">
                  {screen.href}
                </a>
              </p>
              <p className="muted">{t('sandbox.television.waiting')}</p>
            </>
          ) : screen.kind === 'signed-in' ? (
            <>
              <h1>{t('sandbox.demo.signedInTitle', { name: screen.name })}</h1>
              <p className="lead muted">{t('sandbox.television.signedInLead', { brand })}</p>
            </>
          ) : (
            <>
              <h1>{t('sandbox.television.title')}</h1>
              <p className="lead muted">{t('sandbox.television.lead', { brand })}</p>
            </>
          )}
          <form method="post" action={action}>
            <Button kind={screen.kind === 'off' ? 'primary' : 'quiet'}>
              {t(
                `sandbox.television.${screen.kind === 'signed-in' ? 'switchOff' : screen.kind === 'off' ? 'ask' : 'newCode'}`,
              )}
            </Button>
          </form>
        </div>
      </main>
    </div>
  );
}
