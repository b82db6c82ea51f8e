import type { T } from '../../locales/index.ts';
import { Icon } from './icon.tsx';

interface StepperProps {
  t: T;
  label: string;
  steps: readonly string[];
  /** Index of the present step; the number of steps when all are done. */
  current: number;
}

/** The progress of a flow with several steps; screen readers also get the done and future ones. */
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
