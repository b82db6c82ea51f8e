import type { T } from '../../locales/index.ts';

/** The first Tab stop of a page: past header and navigation, to `#content`. */
export function SkipLink({ t }: { t: T }) {
  return (
    <a className="skip" href="#content">
      {t('common.skip')}
    </a>
  );
}
