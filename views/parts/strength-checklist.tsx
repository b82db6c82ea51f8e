import type { T } from '../../locales/index.ts';
import { Icon } from './icon.tsx';
import { type Strength, type StrengthRule, strengthRules } from './password-strength.ts';

/** The checklist's texts, for the browser. */
export interface StrengthWords {
  label: string;
  rules: Record<StrengthRule, string>;
  met: string;
  unmet: string;
  /** '2 of 3 met', with `%` for the number. */
  progress: string;
}

export function strengthWords(t: T): StrengthWords {
  return {
    label: t('common.strength.label'),
    rules: {
      numberOrSymbol: t('common.strength.numberOrSymbol'),
      length: t('common.strength.length'),
      notPersonal: t('common.strength.notPersonal'),
    },
    met: t('common.strength.met'),
    unmet: t('common.strength.unmet'),
    progress: t('common.strength.progress', { met: '%', all: strengthRules.length }),
  };
}

/**
 * The rules beside the field of a new password: each has a tick once it is met. A missed one looks as before, because
 * the error of the field says what is wrong.
 * @param met the rules that the typed password meets; omitted while the field is empty
 */
export function StrengthChecklist(props: { labels: StrengthWords; id: string; met?: Strength | undefined }) {
  const { labels, id, met } = props;
  const count = met && strengthRules.filter((rule) => met[rule]).length;
  return (
    <>
      <ul className="strength" id={id} aria-label={labels.label}>
        {strengthRules.map((rule) => {
          const state = met === undefined ? 'open' : met[rule] ? 'met' : 'unmet';
          return (
            <li key={rule} className={state}>
              <Icon name={state === 'met' ? 'check' : 'dot'} />
              <span>
                {labels.rules[rule]}
                {state !== 'open' && <span className="visually-hidden"> ({labels[state]})</span>}
              </span>
            </li>
          );
        })}
      </ul>
      <p className="visually-hidden" role="status">
        {count !== undefined && labels.progress.replace('%', String(count))}
      </p>
    </>
  );
}
