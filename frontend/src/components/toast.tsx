import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from "react";

type Say = (text: string) => void;

const ToastContext = createContext<Say>(() => {});
const SHOWN_MS = 6_000;

/** Says one short thing that needs no answer. */
export function useToast(): Say {
  return useContext(ToastContext);
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [text, setText] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const say = useCallback<Say>((next) => {
    clearTimeout(timer.current);
    setText(next);
    timer.current = setTimeout(() => setText(""), SHOWN_MS);
  }, []);
  return (
    <ToastContext value={say}>
      {children}
      <div className="toast-place" role="status">
        {text && <div className="toast">{text}</div>}
      </div>
    </ToastContext>
  );
}
