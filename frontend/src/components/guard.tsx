import { Component, type ErrorInfo, type ReactNode } from "react";

interface Properties {
  /** Shown instead of children that could not be drawn. */
  fallback: (error: Error) => ReactNode;
  children: ReactNode;
}

/** Keeps a fault of one part from taking the page with it. */
export class Guard extends Component<Properties, { error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(error: unknown, info: ErrorInfo) {
    console.error(error, info.componentStack);
  }

  override render() {
    return this.state.error ? this.props.fallback(this.state.error) : this.props.children;
  }
}
