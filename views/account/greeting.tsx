import type { PageContext } from '../page-context.ts';
import { Notice } from '../parts/notice.tsx';

/** For a new member who has come by a provider: the settings can be the first page that they see. */
export function Greeting({ ctx, givenName }: { ctx: PageContext; givenName: string }) {
  const { t, links, brand } = ctx;
  const name = givenName.trim();
  return (
    <Notice
      kind="success"
      title={
        name === '' ? t('settings.greeting.title', { brand: brand.name }) : t('settings.greeting.titleFor', { name })
      }
    >
      {t('settings.greeting.text')}{' '}
      {links.search !== undefined && <a href={links.search}>{t('settings.greeting.go')}</a>}
    </Notice>
  );
}
