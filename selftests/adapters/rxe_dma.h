/* SPDX-License-Identifier: GPL-2.0 */
/* A DMA device for soft-RoCE. */
#ifndef RXE_DMA_H
#define RXE_DMA_H

struct device *rxe_dma_device(void);
void rxe_dma_end(void);

#endif /* RXE_DMA_H */
