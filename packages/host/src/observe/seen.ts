/** A request that was answered. */
export interface SeenRequest {
  /** The pattern of its route, names in braces; never what a caller wrote. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  /** Until the head of the response was made. */
  readonly milliseconds: number;
}

/** Where in the host something went wrong. */
export interface HostFault {
  /** Of the request: `GET`, `HEAD`, `POST` or `other`. */
  readonly method: string;
  /** Of the route, names in braces; never what a caller wrote. */
  readonly path: string;
}
