import type { T } from '../../locales/index.ts';
import { Icon } from './icon.tsx';

export interface StepperProps {
  t: T;
  label: string;
  steps: readonly string[];
  /** Index of the present step; as many as there are steps when all are done. */
  current: number;
}

/** Where a flow of several steps stands; what lies behind and ahead is said to screen readers too. */
export function Stepper({ t, label, steps, current }: StepperProps) {
  const stepState = (index: number) => (index < current ? 'done' : index === current ? 'current' : 'ahead');
  return (
    <ol className="stepper" aria-label={label}>
      {steps.map((step, index) => (
        <li key={step} className={stepState(index)} aria-current={index === current ? 'step' : undefined}>
          <span className="stepper-name">
            {index < current && <Icon name="tick" />}
            {step}
          </span>
          <span className="visually-hidden">{t(`common.steps.${stepState(index)}`)}</span>
        </li>
      ))}
    </ol>
  );
}
