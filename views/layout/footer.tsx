import { languageNames, languages } from '../../locales/index.ts';
import type { PageContext } from '../page-context.ts';
import { type PublicPage, publicLinks } from './header.tsx';

/** One button per language; the server stores the choice. */
function LanguageForm({ ctx, form }: { ctx: PageContext; form: NonNullable<PageContext['languageForm']> }) {
  const { withInput } = form;
  return (
    <form method="post" action={form.action}>
      <input type="hidden" name="redirect" value={form.redirect} />
      <ul aria-label={ctx.t('common.footer.language')}>
        {languages.map((lang) => (
          <li key={lang}>
            <button
              type="submit"
              name="lang"
              value={lang}
              lang={lang}
              aria-current={lang === ctx.lang || undefined}
              {...(withInput && { form: withInput.form, formAction: withInput.action, formNoValidate: true })}
            >
              {languageNames[lang]}
            </button>
          </li>
        ))}
      </ul>
    </form>
  );
}

/** @param nav the page whose header hides its links on narrow screens: the footer has them there */
export function Footer({ ctx, nav }: { ctx: PageContext; nav?: PublicPage | undefined }) {
  const { t, links } = ctx;
  const named = [
    { href: links.terms, label: t('common.footer.terms') },
    { href: links.privacy, label: t('common.footer.privacy') },
    { href: links.help, label: t('common.footer.help') },
    { href: links.imprint, label: t('legal.imprint') },
    { href: links.accessibility, label: t('legal.accessibility') },
    { href: links.cancelMembership, label: t('common.footer.cancel') },
  ];
  return (
    <footer className="footer">
      <ul aria-label={t('common.footer.label')}>
        {nav !== undefined &&
          publicLinks(ctx, nav).map((name) => (
            <li key={name} className="footer-nav">
              <a href={links[name]}>{t(`common.header.${name}`)}</a>
            </li>
          ))}
        {named.map(
          ({ href, label }) =>
            href !== undefined && (
              <li key={label}>
                <a href={href}>{label}</a>
              </li>
            ),
        )}
        <li>© {ctx.brand.name}</li>
      </ul>
      {ctx.languageForm !== undefined && <LanguageForm ctx={ctx} form={ctx.languageForm} />}
    </footer>
  );
}
