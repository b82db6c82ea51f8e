import type { T } from '../../locales/index.ts';

/** Signs the user out, on pages without the profile menu. */
export function SignOutForm({ t }: { t: T }) {
  return (
    <form className="sign-out" method="post" action="/logout">
      <button type="submit">{t('common.header.logout')}</button>
    </form>
  );
}
