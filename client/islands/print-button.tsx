import { type PrintButtonProps, PrintButtonView } from '../../views/parts/print-button.tsx';

export default function PrintButton(props: PrintButtonProps) {
  return <PrintButtonView {...props} onClick={() => print()} />;
}
