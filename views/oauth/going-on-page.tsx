import { DoorLayout } from '../layout/door-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Loader } from '../parts/loader.tsx';

const titleOf = (ctx: PageContext, clientName: string | undefined) =>
  clientName === undefined ? ctx.t('oauth.goingOn.title') : ctx.t('oauth.goingOn.titleTo', { clientName });

/**
 * Goes on to `href` by itself (meta refresh in the head). It stands between a form's POST and a client's address because
 * `form-action 'self'` would stop a redirect.
 */
export function GoingOnPage({ ctx, href, clientName }: { ctx: PageContext; href: string; clientName?: string }) {
  const { t } = ctx;
  return (
    <DoorLayout ctx={ctx}>
      <div className="waiting">
        <Loader />
        <div className="panel-head" role="status">
          <h1>{titleOf(ctx, clientName)}</h1>
          <p className="muted">{t('oauth.goingOn.hint')}</p>
        </div>
        <ButtonLink href={href} kind="quiet" block>
          {t('oauth.goingOn.link')}
        </ButtonLink>
      </div>
    </DoorLayout>
  );
}
