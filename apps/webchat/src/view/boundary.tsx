import { Component, type ReactNode } from 'react'

interface Props {
  /** What stands in the place of parts that failed. */
  instead: ReactNode
  children: ReactNode
}

/** Keeps what cannot be shown from taking everything else with it. */
export class Boundary extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    return this.state.hasFailed ? this.props.instead : this.props.children
  }
}
