import { Component, type ReactNode } from 'react'

interface Props {
  /** Shown in place of the children after one of them threw. */
  fallback: ReactNode
  children: ReactNode
}

/** Limits an error while rendering to its children; without it, React removes the whole chat. */
export class ErrorBoundary extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    return this.state.hasFailed ? this.props.fallback : this.props.children
  }
}
