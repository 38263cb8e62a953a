import { useState } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { ToastProvider } from "./components/toast.tsx";
import { DataProvider } from "./shell/data.tsx";
import { TokenDialog } from "./shell/token-dialog.tsx";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/components.css";
import "./styles/screens.css";
import "./styles/web.css";

function Page() {
  // A new token makes everything that failed without it worth loading again.
  const [round, setRound] = useState(0);
  return (
    <ToastProvider>
      <DataProvider key={round}>
        <App />
      </DataProvider>
      <TokenDialog onGiven={() => setRound(round + 1)} />
    </ToastProvider>
  );
}

const root = document.getElementById("page");
if (root) createRoot(root).render(<Page />);
