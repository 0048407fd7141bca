// SPDX-License-Identifier: GPL-2.0
/*
 * A DMA device for soft-RoCE, whose driver is built with this file by rxe-dma.sh.
 *
 * All soft-RoCE devices share it. It exists from the first one on until the driver's module goes.
 */
#include <linux/dma-mapping.h>
#include <linux/platform_device.h>

#include "rxe_dma.h"

static struct platform_device *dma;

/* Devices are made one at a time, under RTNL. Returns NULL if there is no memory: no real DMA. */
struct device *rxe_dma_device(void)
{
	if (IS_ERR_OR_NULL(dma)) {
		dma = platform_device_register_simple("rxe_dma", -1, NULL, 0);
		if (IS_ERR(dma))
			return NULL;
		dma_coerce_mask_and_coherent(&dma->dev, DMA_BIT_MASK(64));
		dma_set_max_seg_size(&dma->dev, UINT_MAX);
	}
	return &dma->dev;
}

void rxe_dma_end(void)
{
	if (!IS_ERR_OR_NULL(dma))
		platform_device_unregister(dma);
}
