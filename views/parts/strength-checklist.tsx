import type { T } from '../../locales/index.ts';
import { Icon } from './icon.tsx';
import { type Strength, type StrengthRule, strengthRules } from './password-strength.ts';

/** The checklist's texts, for the browser. */
export interface StrengthWords {
  label: string;
  rules: Record<StrengthRule, string>;
  met: string;
  unmet: string;
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
  };
}

const looks = { met: 'check', unmet: 'alert', open: 'dot' } as const;

/**
 * The rules beside the field of a new password, each with a sign: met, missed, or not checked yet.
 * @param met the rules that the submitted password met; omitted before a submission
 */
export function StrengthChecklist(props: { labels: StrengthWords; id: string; met?: Strength | undefined }) {
  const { labels, id, met } = props;
  return (
    <ul className="strength" id={id} aria-label={labels.label}>
      {strengthRules.map((rule) => {
        const state = met === undefined ? 'open' : met[rule] ? 'met' : 'unmet';
        return (
          <li key={rule} className={state}>
            <Icon name={looks[state]} />
            <span>
              {labels.rules[rule]}
              {state !== 'open' && <span className="visually-hidden"> ({labels[state]})</span>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
